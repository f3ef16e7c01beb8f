# Homebrew formula. Never built: see ../README.md.
class Kindred < Formula
  desc "Cluster related data sets together, and transfer labels between them"
  homepage "https://example.org/kindred"
  url "https://example.org/kindred/kindred-0.3.0.tar.gz"
  sha256 "SHA256_OF_THE_TARBALL"
  license "BSD-3-Clause"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "hdf5"
  depends_on "openblas"
  depends_on "utf8proc"

  uses_from_macos "expat"
  uses_from_macos "zlib"

  on_macos do
    depends_on "libomp"
  end

  def install
    args = %W[
      -DKINDRED_TESTS=OFF
      -DKINDRED_BENCH=OFF
      -DKINDRED_CUDA=OFF
      -DCMAKE_INSTALL_RPATH=#{rpath}
    ]
    system "cmake", "-S", ".", "-B", "build/brew", "-G", "Ninja", *args, *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
    pkgshare.install "examples"
  end

  test do
    system bin/"kindred", "demo", "-o", "demo"
    assert_path_exists testpath/"demo/result/task1.labels"
    system ENV.cc, pkgshare/"examples/cluster.c", "-I#{include}", "-L#{lib}", "-lkindred", "-o", "example"
    assert_match "a: ", shell_output("./example")
  end
end
